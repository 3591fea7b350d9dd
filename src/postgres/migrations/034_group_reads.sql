-- The refresh token by which the groups of a person are read again at the issuer, sealed with the key of the service; when that was done
-- last, was tried last, and has failed first since.
create table state.group_reads (
  account bigint primary key,
  credential text not null,
  sealed text not null,
  tried_at timestamptz not null default now(),
  failed_at timestamptz
);
