-- Which of its series a checkpoint is, counted from 1, and the number of the last one of the hour before, under a seal of the service: so that
-- one which is deleted is missed. Null for those of older releases, until the next one is signed.
alter table state.checkpoints add column series uuid, add column number bigint, add column before bigint, add column seal text;
