-- The same as a value, `{"code": …, "params": {…}}`, which the dashboard says in the language of its reader.
alter table state.reclassify_jobs add column problem jsonb;
