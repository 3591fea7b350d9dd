-- Returns what it is given, for log.ask and log.later. What was asked for does not count when it lies ahead by more than a minute: the
-- clock was ahead then. In its place is now, which everything else that was asked for is before.
create function log.sure(given anyelement) returns anyelement language plpgsql as $$
declare
  clock bigint := floor(extract(epoch from clock_timestamp()) * 1000);
begin
  if (select last_value from log.asked) > clock + 60000 then
    perform pg_advisory_xact_lock(7275463);
    perform setval('log.asked', clock + 1) from log.asked where last_value > clock + 60000;
  end if;
  return given;
end $$;
