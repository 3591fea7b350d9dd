-- The series in which checkpoints are counted from the next one on, since a backup was restored, under a seal of the
-- service: for all processes, independent of their DATA_DIR. It has no meaning any more once an event of the log begins
-- the series.
create table state.next_series (
  single boolean primary key default true check (single),
  series uuid not null,
  seal text not null
);
