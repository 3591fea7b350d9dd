-- The files of imports that wait, are checked, imported or taken back, and what became of each line. `work` is `check`,
-- `import` or `undo`; `instance` is the process that does it, empty once it has ended.
create table state.imports (
  id uuid primary key,
  account bigint not null,
  work text not null,
  format text not null,
  name text not null,
  size bigint not null,
  options jsonb not null,
  instance text not null,
  total bigint,
  problem jsonb,
  began_at timestamptz not null default now()
);
create index on state.imports (account);

create table state.import_lines (
  import uuid not null references state.imports on delete cascade,
  n bigint not null,
  outcome text not null,
  place text not null,
  alias text not null,
  url text not null,
  message text not null,
  left_out text[] not null,
  link bigint,
  primary key (import, n)
);
