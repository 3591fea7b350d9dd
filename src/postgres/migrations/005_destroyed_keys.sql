-- Keys that were destroyed for good, because their account was erased. They are never made again.
create table state.destroyed_keys (
  name text primary key,
  destroyed_at timestamptz not null default now()
);
