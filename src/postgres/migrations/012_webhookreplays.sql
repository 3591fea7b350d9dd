-- While only a part of the log is sent again: the ordinal of the first event after that part, and where the webhook goes on then
alter table state.webhooks add column until bigint, add column back bigint, add column back_part int;
