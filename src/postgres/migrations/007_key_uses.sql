-- When each API key was used last, to the minute: written lazily, so it is neither in the log nor in a backup.
create table state.key_uses (
  key text primary key,
  used_at timestamptz not null
);
