-- Links that work once: they make an account, confirm an e-mail address or set a new password. Only the hash of a
-- link's token is stored. A lost row only means that its user requests another link, so they are in no backup.
create table state.one_time_links (
  hash bytea primary key,
  kind text not null,
  -- null while there is none
  account bigint,
  -- what the link is for, sealed under the service key; for example the address and the name of a person who is not
  -- registered yet
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
