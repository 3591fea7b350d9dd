-- A restore that has not finished: until it has, no service starts here. Before its first event is stored, nothing else tells that the log is not new.
create table state.restores (log uuid primary key, at timestamptz not null default now());
