-- How often addresses were asked for that lead nowhere, by UTC day: no part of the log, and in no backup. account 0: the operator.
create table state.misses (
  account bigint not null,
  day date not null,
  host text not null,
  path text not null,
  kind text not null,
  count bigint not null,
  people bigint not null,
  primary key (account, day, host, path, kind)
);
create index on state.misses (day);
