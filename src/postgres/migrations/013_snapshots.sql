-- Several snapshots of a stream are kept, so that a history need not read it from its beginning either.
-- They are made again: one after a fence of a claim was sealed under the key of another account.
delete from state.snapshots;
alter table state.snapshots drop constraint snapshots_pkey;
alter table state.snapshots add primary key (stream, version, revision);
