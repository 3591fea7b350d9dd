-- Data that is neither in the log nor derived from it. Back up the schema `state` together with `log`, and SECRET, which opens the keys.

-- 32-byte keys, wrapped under SECRET: 'service' (hashes, cookies) and 'account-<id>' (sealed personal data)
create table state.keys (
  name text primary key,
  wrapped text not null,
  made_at timestamptz not null default now()
);

create sequence state.account_id;
create sequence state.bio_id;
create sequence state.campaign_id;
create sequence state.channel_id;
create sequence state.domain_id;
create sequence state.link_id;
create sequence state.overlay_id;
create sequence state.pixel_id;
create sequence state.qr_id;
create sequence state.splash_id;

-- when the DNS of a branded domain was last checked, and how many checks in a row did not lead to this service
create table state.domain_checks (
  domain bigint primary key,
  checked_at timestamptz not null,
  failures int not null
);

-- fixed windows, shared by all processes; unlogged, because losing them does no harm
create unlogged table state.rate_limits (
  key text primary key,
  ends_at timestamptz not null,
  count int not null
) with (fillfactor = 50);
