-- Release 0.1.0 reads its migrations in knex's table. A database that this release creates has that table, too, with what 0.1.0 knows.
do $$ begin
  if to_regclass('state.knex_migrations') is null then
    create table state.knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);
    insert into state.knex_migrations (name, batch, migration_time)
    select name, 1, at from state.migrations where name < '014' order by name;
  end if;
end $$;
