-- visits of other services, and what takes them back, are read with the clicks, too
create trigger visits after insert on log.events for each row
  when (new.type in ('VisitsImported', 'ImportedVisitsWithdrawn')) execute function log.note_reclassified();
