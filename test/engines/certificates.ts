import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** The files of a certificate in PEM; `both` has the key and the certificate, as Kafka wants them. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly both: string
}

const filesOf = (dir: string, name: string) => ({ cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) })

/** Creates a certificate authority that is valid for a day. */
export const createCa = async (dir: string, name: string) => {
  const ca = filesOf(dir, name)
  const ends = ['-days', '1', '-subj', `/CN=${name}`, '-keyout', ca.key, '-out', ca.cert]
  await run('openssl', ['req', '-x509', ...newKey, ...ends])
  return ca
}

/** Creates a certificate for these names, for example `DNS:localhost,IP:127.0.0.1`. */
export const createCertificate = async (
  dir: string,
  name: string,
  ca: Pick<Certificate, 'cert' | 'key'>,
  names: string,
): Promise<Certificate> => {
  const [files, request] = [filesOf(dir, name), join(dir, `${name}.csr`)]
  const about = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`]
  await run('openssl', ['req', ...newKey, ...about, '-keyout', files.key, '-out', request])
  const signer = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-copy_extensions', 'copy', '-days', '1']
  await run('openssl', ['x509', '-req', '-in', request, ...signer, '-out', files.cert])
  const both = join(dir, `${name}.both.pem`)
  await writeFile(both, (await readFile(files.key, 'utf8')) + (await readFile(files.cert, 'utf8')))
  return { ...files, both }
}
