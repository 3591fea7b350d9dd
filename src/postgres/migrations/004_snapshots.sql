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
