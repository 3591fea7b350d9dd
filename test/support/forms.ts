/** Sends a form as a browser does. */
export const postForm = async (
  address: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(address, { method: 'POST', body: new URLSearchParams(fields), headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The path and the token of a link that works once. */
export const oneTimeLink = (address: string) => {
  const { pathname, searchParams } = new URL(address)
  return { path: pathname, token: searchParams.get('t') ?? '' }
}
