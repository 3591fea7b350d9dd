-- The positions of the events that are read with the clicks and are no clicks. An index on them would lock out appends while it reads the whole
-- log, which may take minutes; there are no such events yet, and the trigger notes those that come.
create table log.reclassified (position bigint primary key);

create function log.note_reclassified() returns trigger language plpgsql as $$
begin
  insert into log.reclassified (position) values (new.position);
  return null;
end $$;

create trigger reclassified after insert on log.events for each row
  when (new.type in ('ClicksReclassified', 'ReclassificationUndone')) execute function log.note_reclassified();
