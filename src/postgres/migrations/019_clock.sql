-- When the clock of this database was looked at last, and from when on work that cannot be undone trusts it: in no backup.
create table state.clock (single boolean primary key default true check (single), seen_at timestamptz not null, sure_from timestamptz not null);
