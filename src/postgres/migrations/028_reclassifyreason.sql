-- Why a reclassification in the background has failed, in a sentence; null where that cannot be said, as of jobs of an older release.
alter table state.reclassify_jobs add column reason text;
