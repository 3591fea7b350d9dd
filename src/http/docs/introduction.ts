/** What a developer has to know before the first request, in Markdown. */
export const introduction = `Short links with their history: every change and every click is an event in a log.

### Begin

1. \`POST /register\` with an e-mail address and a password. The answer has your \`api_key\`, which is shown only once. Where the service sends mail, the link in the mail leads to a page that shows it. Where registration is closed, the operator of the service gives you one.
2. Press **Authorize** and enter the key: this page then sends it with every request, as \`Authorization: Bearer <key>\`.
3. \`POST /api/url/add\` with a \`url\` answers with the short address, \`shorturl\`. Open it: you are redirected, and the visit is counted.
4. \`GET /api/url/{id}\` shows the link and its statistics; a click is in them within a second.

The same with curl:

\`\`\`sh
curl -X POST $SERVICE/register -H 'content-type: application/json' -d '{"email":"ann@example.com","password":"correct horse 1"}'
curl -X POST $SERVICE/api/url/add -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"url":"https://example.com/a"}'
curl $SERVICE/api/url/1 -H "authorization: Bearer $KEY"
\`\`\`

### Requests

A body is a JSON object in UTF-8 of at most 64 KiB, 8 levels and 3,000 values; only \`POST /api/urls/bulk\` takes more. Unknown fields are ignored. An update changes only the fields that are sent; \`""\` or null clears an optional one. Times are in UTC: \`2030-01-31 18:00:00\`, or ISO 8601 with an offset, or a day. Any origin may call the API from a browser.

### Answers

The status is 200 for every success, and \`error\` is 0 (\`"0"\` in lists). A failure has \`error\` 1 and a \`message\` that names the field and what would be right; with \`Accept: application/problem+json\` it has the form of RFC 9457. An id that is unknown, deleted or of another account is 404. Expect further fields: the service adds some over time.

A list has \`limit\` (15 if not sent, at most 1,000) and \`page\`, newest first; the header \`Link\` leads to the next page. With \`cursor\` instead of \`page\`, each entry comes once while others come and go.

A write answers once it can be read. \`X-Projection-Pending: 1\` says that it is stored, but lists do not show it yet. After 503, or without an answer, it may be stored or not: send an \`Idempotency-Key\` with each write, and the same request again with the same key. What was done is not done twice.

Reading one resource answers with an \`ETag\`. \`If-None-Match\` on GET gives 304 while nothing has changed; \`If-Match\` on PUT and DELETE gives 412 if the resource has changed since.

### Limits

An account has a number of requests per minute for all its keys together, 30 unless the operator has set another. \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` are in every answer; over the limit it is 429, and \`Retry-After\` says how many seconds to wait. A bulk request counts as one for every 50 rows or 64 KiB. An account has a quota of each kind of resource; over it, the answer is 403.

### From a visit to the destination

1. A link that the operator has blocked answers 403. One that is unknown, deleted or not started (\`starts\`) answers 404, or leads to the \`redirect404\` of its domain. One that has ended (\`expiry\`, \`max_clicks\`) answers 410, or leads to its \`expired_url\`.
2. If it has a \`password\`, the visitor enters it. This browser is not asked again for an hour.
3. The destination is that of the first target that matches, by device, then browser, then country, then language; else one of the \`variants\`, and without them \`url\`. \`parameters\` are appended to its query, then, with \`forward\`, those of the visitor that neither has; with \`forward: "path"\`, what follows the alias is appended to its path, or stands where it has \`{path}\`.
4. \`type\` and \`pixels\` decide whether the visitor is redirected at once or sees a page first: the destination in a frame, a splash page, an overlay, a notice about measurement. A destination that refuses to be framed (\`unframed\`) is redirected to.

A click is a visit by a person that reaches a destination by GET. Visits by bots, link previews, AI assistants and prefetching browsers are recorded as \`visits\`, not as clicks. Unique clicks are distinct visitors. Suspects are clicks beyond 30 a minute by one visitor on one link.

### Beyond the API

\`/<alias>\` on this service or on your branded domain redirects visitors. A QR code is a picture at its \`link\` (\`?size=\` 64 to 2048; SVG with \`.svg\`), a campaign's links are at its \`list\` and its rotator at \`rotator\`, a bio page is at its \`link\`, and \`<link>/<id of an entry>\` counts a click on the entry and leads to its URL. Every page for visitors is JSON with \`Accept: application/json\`. \`GET /api/events\` and \`GET /api/clicks\` are streams of every change and every click; \`/asyncapi.json\` describes the same clicks as the Kafka topic of this service.`
