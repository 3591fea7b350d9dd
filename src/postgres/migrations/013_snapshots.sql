-- Several snapshots of a stream are kept, so that a history need not read it from its beginning either.
alter table state.snapshots drop constraint snapshots_pkey;
alter table state.snapshots add primary key (stream, version, revision);
