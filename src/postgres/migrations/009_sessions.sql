-- Sessions of the dashboard. Only the hash of a session's token is stored. A lost row only means that its user signs in
-- again, so they are in no backup.
create table state.sessions (
  -- random, so that it says nothing about other sessions
  id bigint primary key,
  hash bytea not null unique,
  account bigint not null,
  -- keyed hash of the stored password at sign-in: any change of the password ends the session
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
