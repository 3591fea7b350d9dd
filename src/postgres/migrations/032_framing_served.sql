-- When a link of an account was last taken for a check of its frames: the account that has waited longest is next. A
-- lost row only means that its account is served once before the others; it is in no backup.
create table state.framing_turns (
  account bigint primary key,
  served_at timestamptz not null
);
