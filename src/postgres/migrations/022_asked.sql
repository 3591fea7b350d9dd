-- The moment up to which answers have been given, in ms since 1970, plus 1: an event that is appended later is later, so that what
-- was answered of a moment stays true. A sequence, because it costs no row and no wait for the disk.
create sequence log.asked minvalue 0 start 0;

create function log.ask(moment timestamptz) returns void language plpgsql as $$
declare
  after bigint := floor(extract(epoch from moment) * 1000)::bigint + 1;
begin
  -- a clock that is far ahead must not take that of the log with it
  if moment > clock_timestamp() + interval '1 minute' then
    return;
  end if;
  -- the times of the log never go back: an event that is later, or the same question before, has settled it
  if (select e.at from log.events e order by e.position desc limit 1) > moment or (select last_value from log.asked) >= after then
    return;
  end if;
  perform pg_advisory_xact_lock(7275463);
  perform setval('log.asked', greatest(after, (select last_value from log.asked)));
end $$;

-- Returns the times of events that are appended by the same statement, none before a moment that was asked about. Uses
-- the lock of log.append: no question comes in between.
create function log.later(times timestamptz[]) returns timestamptz[] language plpgsql as $$
declare
  asked timestamptz;
begin
  perform pg_advisory_xact_lock(7275463);
  select timestamptz 'epoch' + last_value * interval '1 ms' into asked from log.asked;
  return array(select greatest(e.at, asked) from unnest(times) with ordinality as e (at, n) order by e.n);
end $$;
