-- Whose a link is: accounts take turns. 0 until the next check of a link that an earlier release has planned.
alter table state.framing_checks add column account bigint not null default 0;
create index on state.framing_checks (account, due_at);
