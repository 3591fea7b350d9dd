-- When each passkey was used last, and its signature counter of then: one that goes back is that of a copy. A lost row means that the next
-- counter is taken as it is, so they are in no backup.
create table state.passkeys (
  account bigint not null,
  number bigint not null,
  counter bigint not null,
  -- null: since it was added
  used_at timestamptz,
  primary key (account, number)
);

-- Challenges that browsers have answered, by their hashes, for as long as an answer would count: each counts once.
create table state.passkey_answers (
  challenge bytea primary key,
  expires_at timestamptz not null
);
create index on state.passkey_answers (expires_at);
