-- The quarters of an hour of UTC, 0 to 95, in which the misses of a day were counted. What an earlier release has counted has none.
alter table state.misses
  add column quarters smallint[] not null default '{}',
  add column quarter_counts bigint[] not null default '{}',
  add column quarter_people bigint[] not null default '{}';
