create schema state;
create table state.migrations (name text primary key, at timestamptz not null default now());

-- 001_log.sql
create schema log;

-- data and metadata are json, not jsonb, which would not keep the bytes and the order of keys as they were written
create table log.events (
  position bigint primary key,
  stream text collate "C" not null,
  revision bigint not null,
  id uuid not null,
  type text not null,
  data json not null,
  metadata json not null,
  at timestamptz not null,
  unique (stream, revision)
);
create index events_rest on log.events (position) where type <> 'LinkClicked';
create index events_clicks on log.events (position) where type = 'LinkClicked';

do $$ begin
  alter table log.events alter data set compression lz4;
exception when others then null; -- a server built without lz4 keeps its default
end $$;

-- Appends groups of writes (w_*) with their events (e_*, in the same order). A group is stored as a whole or not at all. Groups are
-- independent, and a stream occurs once per call. The advisory lock makes positions commit in order and without gaps.
-- A write whose event ids are already stored at its expected revision is a retry and counts as stored.
-- Returns one row per write: the current revision of its stream, and whether its group is stored.
create function log.append(
  w_group int[], w_stream text[], w_expected bigint[], w_count int[],
  e_id uuid[], e_type text[], e_data json[], e_metadata json[], e_at timestamptz[]
) returns table (grp int, stream text, stored boolean, revision bigint, last_position bigint)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  head bigint;
  clock timestamptz;
begin
  perform pg_advisory_xact_lock(7275463);
  select e.position, e.at into head, clock from log.events e order by e.position desc limit 1;
  head := coalesce(head, 0);

  return query
  with write as (
    select w.grp, w.stream, w.expected, w.count, w.nr,
      (sum(w.count) over (order by w.nr) - w.count)::int as base,
      coalesce((select max(e.revision) from log.events e where e.stream = w.stream), -1) as current
    from unnest(w_group, w_stream, w_expected, w_count) with ordinality as w (grp, stream, expected, count, nr)
  ), checked as (
    select write.*, repeated.last_position, write.count = repeated.found as done
    from write
    cross join lateral (
      select count(*)::int as found, max(e.position) as last_position
      from log.events e
      where write.current > write.expected
        and e.stream = write.stream
        and e.revision > write.expected and e.revision <= write.expected + write.count
        and e.id = e_id[write.base + (e.revision - write.expected)::int]
    ) repeated
  ), verdict as (
    select checked.*, bool_and(done or current = expected) over (partition by grp) as ok from checked
  ), event as (
    select v.nr, v.stream, v.expected + k as revision, v.base + k as i,
      head + row_number() over (order by v.nr, k) as position
    from verdict v cross join lateral generate_series(1, v.count) k
    where v.ok and not v.done
  ), inserted as (
    insert into log.events (position, stream, revision, id, type, data, metadata, at)
    select event.position, event.stream, event.revision, e_id[i], e_type[i], e_data[i], e_metadata[i],
      greatest(clock, max(e_at[i]) over (order by event.position))
    from event
    order by event.position
  )
  select v.grp, v.stream, v.ok,
    case when v.ok and not v.done then v.expected + v.count else v.current end,
    case when v.done then v.last_position else (select max(event.position) from event where event.nr = v.nr) end
  from verdict v
  order by v.nr;
end $$;

-- 002_state.sql
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

-- 003_images.sql
-- Images that events name by their hash, such as the logos of QR codes. They are in no event, so back them up together with `log`.
-- Each belongs to one account: its hash and its content are keyed with the account's key, and it is deleted with the account.
create table state.images (
  account bigint not null,
  hash text collate "C" not null,
  sealed bytea not null,
  -- when a request last stored it: one that no event names is deleted a day later
  used_at timestamptz not null default now(),
  primary key (account, hash)
);
-- sealed bytes cannot be compressed
alter table state.images alter sealed set storage external;

-- 004_snapshots.sql
-- States of long streams, so that a command need not read all their events. A row can be deleted at any time: the state is then folded
-- from the log. It is sealed under the key of its account and deleted with the account.
create table state.snapshots (
  stream text collate "C" not null,
  -- of the rules that folded it
  version int not null,
  account bigint not null,
  -- of the last event in it
  revision bigint not null,
  event_id uuid not null,
  sealed bytea not null,
  primary key (stream, version)
);
create index on state.snapshots (account);
-- sealed bytes cannot be compressed
alter table state.snapshots alter sealed set storage external;

-- 005_destroyed_keys.sql
-- Keys that were destroyed for good, because their account was erased. They are never made again.
create table state.destroyed_keys (
  name text primary key,
  destroyed_at timestamptz not null default now()
);

-- 006_domain_looks.sql
-- what DNS said when a branded domain was last looked at: for its owner, who corrects the record. `checked_at` is when it is due for the daily check.
alter table state.domain_checks add column looked_at timestamptz, add column found jsonb;

-- 006_framing_checks.sql
-- When the destinations of a link that shows them in a frame are asked next whether they allow it. What they said is in the log, so a lost
-- row only means that they are asked again; it is in no backup.
create table state.framing_checks (
  link bigint primary key,
  due_at timestamptz not null
);
create index on state.framing_checks (due_at);

-- 007_account_life.sql
-- Links that work once: they make an account, confirm an e-mail address or set a new password. Only the hash of a link's token is stored.
-- A lost row means that somebody asks for another link, so they are in no backup.
create table state.one_time_links (
  hash bytea primary key,
  kind text not null,
  -- null while there is none
  account bigint,
  -- what the link is for, sealed under the service key; the address and the name of somebody who is not registered yet, for example
  sealed bytea not null,
  -- null: only when it is used
  expires_at timestamptz
);
create index on state.one_time_links (account);

-- Mails that were not handed over to the mail server yet, sealed under the service key: they contain addresses, and links in clear.
create table state.mails (
  id bigint generated always as identity primary key,
  account bigint,
  sealed bytea not null,
  tries int not null default 0,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now()
);
create index on state.mails (due_at);

-- 007_key_uses.sql
-- When each API key was used last, to the minute: written lazily, so it is neither in the log nor in a backup.
create table state.key_uses (
  key text primary key,
  used_at timestamptz not null
);

-- 008_idempotency.sql
-- What was done under an Idempotency-Key, for a day. `scope` is an account or, for registrations, the address block of the client.
create table state.idempotency (
  scope text collate "C" not null,
  -- keyed hashes of the key, and of method, path and body: they may have secrets
  key bytea not null,
  request bytea not null,
  -- id from which the commands of the request are derived
  command uuid not null default gen_random_uuid(),
  -- process that executes the request, empty when it ended without an answer; `taken_at` fences off an earlier one
  instance text not null,
  began_at timestamptz not null default now(),
  taken_at timestamptz not null default clock_timestamp(),
  -- ids that were drawn for what the request creates, stored before they are used
  drawn jsonb not null default '{}',
  -- the answer, sealed under the key of the account, or without one under the service key; null until there is one
  account bigint,
  sealed bytea,
  primary key (scope, key));
create index on state.idempotency (began_at);
create index on state.idempotency (account);

-- 009_checkpoints.sql
-- signed checkpoints of the Merkle tree over the log: what was published cannot be made again
create table state.checkpoints (
  size bigint primary key,
  note text not null,
  signed_at timestamptz not null default now()
);

-- 009_sessions.sql
-- Sessions of the dashboard. Only the hash of a session's token is stored. A lost row means that somebody signs in again, so they are in no backup.
create table state.sessions (
  -- random, so that it says nothing about other sessions
  id bigint primary key,
  hash bytea not null unique,
  account bigint not null,
  -- keyed hash of the stored password at sign-in: another password ends the session, whoever has set it
  credential bytea not null,
  browser text not null,
  os text not null,
  created_at timestamptz not null default now(),
  -- to about a minute
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on state.sessions (account, created_at);
create index on state.sessions (expires_at);

-- The last time step whose code an account has used as its second factor: no code is accepted twice.
create table state.second_factor_steps (
  account bigint primary key,
  step bigint not null
);

-- 009_webhooks.sql
create sequence state.webhook_id;

-- How far each webhook is. What it is stands in the log.
create table state.webhooks (
  webhook bigint primary key,
  account bigint not null,
  -- how often it has begun, at its creation and with each replay: what belongs to an earlier beginning is ignored
  starts int not null,
  -- ordinal and part of the first message that is not delivered; part 0 is the first of an event
  next bigint not null,
  part int not null default 0,
  -- nothing was left to deliver up to the ordinal in webhook_tail, which then counts instead of a lower `next`
  idle boolean not null default false,
  -- since when deliveries fail, how often in a row, and when the next is due
  failing_since timestamptz,
  tries int not null default 0,
  due_at timestamptz
);
create index on state.webhooks (account);

-- One row: the process that delivers, and the ordinal of the next event that it gives to webhooks
create table state.webhook_tail (
  only_row boolean primary key default true check (only_row),
  leader text not null,
  next bigint
);

-- The last attempts of each webhook, for its owner. `excerpt` is the beginning of what the receiver answered.
create table state.webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook bigint not null,
  account bigint not null,
  message text collate "C" not null,
  type text not null,
  ordinal bigint,
  at timestamptz not null default now(),
  try int not null,
  status int,
  ms int not null,
  delivered boolean not null,
  problem text not null,
  excerpt text not null
);
create index on state.webhook_deliveries (webhook, id);
create index on state.webhook_deliveries (account);
create index on state.webhook_deliveries (at);

-- 010_reclassified.sql
-- The positions of the events that are read with the clicks and are no clicks. An index on them would lock out appends while it reads the whole
-- log, which may take minutes; there are no such events yet, and the trigger notes those that come.
create table log.reclassified (position bigint primary key);

create function log.note_reclassified() returns trigger language plpgsql as $$
begin
  insert into log.reclassified (position) values (new.position);
  return null;
end $$;

create trigger reclassified after insert on log.events for each row
  when (new.type in ('ClicksReclassified', 'ReclassificationUndone')) execute function log.note_reclassified();

-- 011_verifications.sql
-- when the whole log was last read again and compared with its tree and its checkpoints, and how many events it had
create table state.verifications (
  single boolean primary key default true check (single),
  events bigint not null,
  verified_at timestamptz not null
);

-- 012_webhookreplays.sql
-- While only a part of the log is sent again: the ordinal of the first event after that part, and where the webhook goes on then
alter table state.webhooks add column until bigint, add column back bigint, add column back_part int;

-- 013_snapshots.sql
-- Several snapshots of a stream are kept, so that a history need not read it from its beginning either.
-- They are made again: one after a fence of a claim was sealed under the key of another account.
delete from state.snapshots;
alter table state.snapshots drop constraint snapshots_pkey;
alter table state.snapshots add primary key (stream, version, revision);

-- 014_confirmed_sessions.sql
-- When the password of a session was entered last. Sessions from before have no such time: they enter it again before they widen a right.
alter table state.sessions add column confirmed_at timestamptz;

-- 015_checkpointnumbers.sql
-- Which of its series a checkpoint is, counted from 1, and the number of the last one of the hour before, under a seal of the service: so that
-- one which is deleted is missed. Null for those of older releases, until the next one is signed.
alter table state.checkpoints add column series uuid, add column number bigint, add column before bigint, add column seal text;

-- 016_knex.sql
-- Release 0.1.0 reads its migrations in knex's table. A database that this release creates has that table, too, with what 0.1.0 knows.
do $$ begin
  if to_regclass('state.knex_migrations') is null then
    create table state.knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);
    insert into state.knex_migrations (name, batch, migration_time)
    select name, 1, at from state.migrations where name < '014' order by name;
  end if;
end $$;
