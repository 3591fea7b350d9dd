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
