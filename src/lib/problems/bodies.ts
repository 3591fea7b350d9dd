/** Problems of bodies and of files, and of the rows in them. */
export const bodyTexts = {
  body_too_large: {
    plain: 'The body must be at most {kib} KiB large.',
    mib: 'The body must be at most {mib} MiB large.',
  },
  wrong_content_type: {
    json: 'The body must be sent as application/json.',
    rows: 'The body must be sent as application/json, application/x-ndjson, text/csv or text/tab-separated-values.',
    encoding: 'The body must be sent without a Content-Encoding.',
    charset: 'The body must be encoded in UTF-8.',
  },
  wrong_body: {
    object: 'The body must be a JSON object.',
    utf8: 'The body must be valid UTF-8.',
    end: 'The body must be sent to its end.',
    rows: 'The body must be a JSON object with `rows`, an array of objects.',
    header: 'The body must begin with a row that has the names of the fields.',
    csv: 'The body is not CSV in line {line}: put a cell with quotes, separators or line breaks into quotes, and double the quotes in it.',
    row: 'A row must be a JSON object.',
    row_line: 'A row must be a JSON object in a line of its own.',
    row_field: 'A row must not have a field `__proto__`.',
    row_cells:
      'The row has {cells} cells, but the header has {header}: put a cell that contains the separator into quotes.',
    row_utf8: 'The row must be valid UTF-8.',
    row_json: 'The row is not valid JSON.',
    row_sql: 'The row is not valid SQL.',
    row_cut: 'The file ends within this row.',
    growth: 'The file must not unpack to more than {times} times its size: send it as it is.',
    format: 'The file has none of the formats that can be imported: name its format, or its columns.',
    table: 'The file has no column with destinations: name it, for example `url`.',
    list: 'The answer has no list of links: is this the address of the API?',
  },
  nothing_stored: {
    plain: 'Nothing was stored, because {failed} of {rows} rows cannot be: see the rows with `error` 1.',
    again:
      'Nothing was stored by this repeated request, because {failed} of {rows} rows cannot be now: see the rows with `error` 1. The first request may have stored all of them.',
  },
  partly_proposed:
    'Nothing was stored: row {row} needs the approval of a second person, and other rows need none. Send the rows that need one in a request of their own, or leave `atomic` out.',
} as const
