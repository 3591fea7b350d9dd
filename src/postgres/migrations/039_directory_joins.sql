-- The accounts of persons whom a directory provisions or may provision, by the keyed hash of the person. They remain
-- subject to the directory, also when the person signs in to them by other means, or to another account.
create table state.directory_joins (
  person bytea not null,
  account bigint not null,
  primary key (person, account)
);
create index on state.directory_joins (account);
insert into state.directory_joins (person, account)
  select person, account from state.directory_users where person is not null and account is not null
  union select person, account from state.directory_people where person is not null;

-- of users whom a directory has deleted, the oldest are forgotten
create index on state.directory_users (issuer, updated_at) where sealed is null;
