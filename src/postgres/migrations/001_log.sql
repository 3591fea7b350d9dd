create schema log;

-- data and metadata are json, not jsonb, which would not keep the bytes and the order of keys as they were written
create table log.events (
  position bigint primary key,
  stream text collate "C" not null,
  revision bigint not null,
  id uuid not null,
  type text not null,
  data json not null,
  metadata json not null,
  at timestamptz not null,
  unique (stream, revision)
);
create index events_rest on log.events (position) where type <> 'LinkClicked';
create index events_clicks on log.events (position) where type = 'LinkClicked';

do $$ begin
  alter table log.events alter data set compression lz4;
exception when others then null; -- a server built without lz4 keeps its default
end $$;

-- Appends groups of writes (w_*) with their events (e_*, in the same order). A group is stored as a whole or not at all. Groups are
-- independent, and a stream occurs once per call. The advisory lock makes positions commit in order and without gaps.
-- A write whose event ids are already stored at its expected revision is a retry and counts as stored.
-- Returns one row per write: the current revision of its stream, and whether its group is stored.
create function log.append(
  w_group int[], w_stream text[], w_expected bigint[], w_count int[],
  e_id uuid[], e_type text[], e_data json[], e_metadata json[], e_at timestamptz[]
) returns table (grp int, stream text, stored boolean, revision bigint, last_position bigint)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  head bigint;
  clock timestamptz;
begin
  perform pg_advisory_xact_lock(7275463);
  select e.position, e.at into head, clock from log.events e order by e.position desc limit 1;
  head := coalesce(head, 0);

  return query
  with write as (
    select w.grp, w.stream, w.expected, w.count, w.nr,
      (sum(w.count) over (order by w.nr) - w.count)::int as base,
      coalesce((select max(e.revision) from log.events e where e.stream = w.stream), -1) as current
    from unnest(w_group, w_stream, w_expected, w_count) with ordinality as w (grp, stream, expected, count, nr)
  ), checked as (
    select write.*, repeated.last_position, write.count = repeated.found as done
    from write
    cross join lateral (
      select count(*)::int as found, max(e.position) as last_position
      from log.events e
      where write.current > write.expected
        and e.stream = write.stream
        and e.revision > write.expected and e.revision <= write.expected + write.count
        and e.id = e_id[write.base + (e.revision - write.expected)::int]
    ) repeated
  ), verdict as (
    select checked.*, bool_and(done or current = expected) over (partition by grp) as ok from checked
  ), event as (
    select v.nr, v.stream, v.expected + k as revision, v.base + k as i,
      head + row_number() over (order by v.nr, k) as position
    from verdict v cross join lateral generate_series(1, v.count) k
    where v.ok and not v.done
  ), inserted as (
    insert into log.events (position, stream, revision, id, type, data, metadata, at)
    select event.position, event.stream, event.revision, e_id[i], e_type[i], e_data[i], e_metadata[i],
      greatest(clock, max(e_at[i]) over (order by event.position))
    from event
    order by event.position
  )
  select v.grp, v.stream, v.ok,
    case when v.ok and not v.done then v.expected + v.count else v.current end,
    case when v.done then v.last_position else (select max(event.position) from event where event.nr = v.nr) end
  from verdict v
  order by v.nr;
end $$;
