-- When the process that executes a request has said last that it still does; null until it has.
alter table state.idempotency add column renewed_at timestamptz;
