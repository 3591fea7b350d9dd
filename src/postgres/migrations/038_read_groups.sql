-- The issuer of which the groups of a person are read again, null: it is not known; what of its answers had them last (ID token, userinfo), and
-- when they were known last.
alter table state.group_reads add column issuer text;
alter table state.group_reads add column sources text not null default '';
alter table state.group_reads add column read_at timestamptz not null default now();
