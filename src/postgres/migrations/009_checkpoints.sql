-- signed checkpoints of the Merkle tree over the log: what was published cannot be made again
create table state.checkpoints (
  size bigint primary key,
  note text not null,
  signed_at timestamptz not null default now()
);
