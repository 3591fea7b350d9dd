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
