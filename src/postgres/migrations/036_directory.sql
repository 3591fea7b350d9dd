-- The directories of organizations, as they send them by SCIM 2.0. A key sees and changes what belongs to its issuer.
create table state.directory_keys (
  id bigint generated always as identity primary key,
  issuer text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now()
);

-- A user of a directory. All that is known of the person is sealed with the key of the service, and found by keyed hashes.
create table state.directory_users (
  id uuid primary key,
  issuer text not null,
  -- of the issuer and what its sign-ins call the person; null: nothing
  person bytea unique,
  name bytea,
  email bytea,
  active boolean not null,
  -- that the person signs in to; null: none yet
  account bigint,
  -- null: the directory has deleted the user, and only this keeps the person from signing in
  sealed text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index on state.directory_users (issuer, name) where sealed is not null;
create index on state.directory_users (issuer, created_at, id) where sealed is not null;
create index on state.directory_users (account);

create table state.directory_groups (
  id uuid primary key,
  issuer text not null,
  name text not null,
  external text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index on state.directory_groups (issuer, lower(name));

create table state.directory_members (
  group_id uuid not null references state.directory_groups on delete cascade,
  user_id uuid not null references state.directory_users on delete cascade,
  primary key (group_id, user_id)
);
create index on state.directory_members (user_id);

-- Who has signed in with the issuer: by what a directory calls them, and their groups of then, of those that give roles. Null: it is not known.
create table state.directory_people (
  account bigint primary key,
  person bytea,
  groups json
);
create index on state.directory_people (person);
