create sequence state.webhook_id;

-- How far each webhook is. What it is stands in the log.
create table state.webhooks (
  webhook bigint primary key,
  account bigint not null,
  -- how often it has begun, at its creation and with each replay: what belongs to an earlier beginning is ignored
  starts int not null,
  -- ordinal and part of the first message that is not delivered; part 0 is the first of an event
  next bigint not null,
  part int not null default 0,
  -- nothing was left to deliver up to the ordinal in webhook_tail, which then counts instead of a lower `next`
  idle boolean not null default false,
  -- since when deliveries fail, how often in a row, and when the next is due
  failing_since timestamptz,
  tries int not null default 0,
  due_at timestamptz
);
create index on state.webhooks (account);

-- One row: the process that delivers, and the ordinal of the next event that it gives to webhooks
create table state.webhook_tail (
  only_row boolean primary key default true check (only_row),
  leader text not null,
  next bigint
);

-- The last attempts of each webhook, for its owner. `excerpt` is the beginning of what the receiver answered.
create table state.webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook bigint not null,
  account bigint not null,
  message text collate "C" not null,
  type text not null,
  ordinal bigint,
  at timestamptz not null default now(),
  try int not null,
  status int,
  ms int not null,
  delivered boolean not null,
  problem text not null,
  excerpt text not null
);
create index on state.webhook_deliveries (webhook, id);
create index on state.webhook_deliveries (account);
create index on state.webhook_deliveries (at);
