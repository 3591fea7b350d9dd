-- The accounts that a user of a directory was joined with, by the id that the directory knows: also when it calls the
-- person otherwise since, or the person signs in no more. Only an operator takes one out.
create table state.directory_held (
  user_id uuid not null references state.directory_users on delete cascade,
  account bigint not null,
  primary key (user_id, account)
);
create index on state.directory_held (account);
insert into state.directory_held (user_id, account)
  select u.id, j.account from state.directory_users u join state.directory_joins j using (person)
  union select id, account from state.directory_users where account is not null;
