-- when the whole log was last read again and compared with its tree and its checkpoints, and how many events it had
create table state.verifications (
  single boolean primary key default true check (single),
  events bigint not null,
  verified_at timestamptz not null
);
