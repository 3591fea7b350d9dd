-- What the issuer calls the session there that has opened one here, as a keyed hash; null: it did not say, or a password has opened it.
alter table state.sessions add column issuer_session bytea;
create index on state.sessions (issuer_session) where issuer_session is not null;

-- Tokens by which the issuer has ended sessions, by the hashes of their ids, for as long as they would count: each counts once.
create table state.logouts (
  token bytea primary key,
  expires_at timestamptz not null
);
create index on state.logouts (expires_at);
