-- counts of other services are read with the clicks, too: lists by clicks have them in an index
create trigger counts after insert on log.events for each row
  when (new.type = 'ClicksImported') execute function log.note_reclassified();

insert into log.reclassified select position from log.events
  where type <> 'LinkClicked' and type = 'ClicksImported' on conflict do nothing;
