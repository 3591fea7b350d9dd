-- what DNS said when a branded domain was last looked at: for its owner, who corrects the record. `checked_at` is when it is due for the daily check.
alter table state.domain_checks add column looked_at timestamptz, add column found jsonb;
