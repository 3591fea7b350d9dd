-- Reclassifications in the background: one of an account at a time, and one of an operator over all accounts, whose account is 0. The last one of
-- each is kept to be shown. They are no part of the log, which has what they have changed.
create table state.reclassify_jobs (
  id uuid primary key,
  account bigint not null unique,
  work text not null,
  actor jsonb not null,
  request text not null,
  asked timestamptz not null default now(),
  -- when it had its turn: jobs take turns
  turn timestamptz,
  -- accounts up to this one are done
  done bigint not null default 0,
  -- the reclassification that is being made, or taken back, of the next account
  made uuid,
  part int not null default 0,
  parts int not null default 0,
  visits bigint not null default 0,
  changes jsonb not null default '[]',
  ended timestamptz,
  failed boolean not null default false
);
