-- When the password of a session was entered last. Sessions from before have no such time: they enter it again before they widen a right.
alter table state.sessions add column confirmed_at timestamptz;
