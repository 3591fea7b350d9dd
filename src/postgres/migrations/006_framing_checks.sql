-- When the destinations of a link that shows them in a frame are asked next whether they allow it. What they said is in the log, so a lost
-- row only means that they are asked again; it is in no backup.
create table state.framing_checks (
  link bigint primary key,
  due_at timestamptz not null
);
create index on state.framing_checks (due_at);
