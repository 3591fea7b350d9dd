import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { type Database, openDatabase } from '../../src/postgres/database.ts'
import { copyImages, readImages, type StoredImage, writeImages } from '../../src/postgres/images.ts'
import { type ImageStore, openImageStore } from '../../src/security/images.ts'
import { type Keys, openKeys } from '../../src/security/keyring.ts'
import { migratedDatabase } from '../support/database.ts'

const [ann, bob] = [1, 2]
const secret = 'a secret for tests only'

describe('the images of accounts', () => {
  const open: Database[] = []
  const database = async () => {
    const db = openDatabase(await migratedDatabase(), { name: 'test', max: 4, timeout: 30_000, onError: () => {} })
    open.push(db)
    return db
  }
  afterEach(async () => void (await Promise.all(open.splice(0).map((db) => db.destroy()))))

  const stored = async (db: Database) => {
    const all: StoredImage[] = []
    for await (const images of readImages(db)) all.push(...images)
    return all
  }
  const setUp = async (): Promise<{ db: Database; keys: Keys; images: ImageStore }> => {
    const db = await database()
    const keys = await openKeys(db, secret)
    return { db, keys, images: openImageStore(db, keys) }
  }

  it('are stored once per account, however often they are saved', async () => {
    const { db, images } = await setUp()
    const [one, other] = [randomBytes(3000), randomBytes(3000)]
    const hash = await images.save(ann, one)
    expect(hash).to.match(/^[\w-]{43}$/)
    expect(await images.save(ann, one)).to.equal(hash)
    expect(await images.save(ann, other)).not.to.equal(hash)
    expect(await images.find(ann, hash)).to.deep.equal(one)
    expect(await stored(db)).to.have.length(2)
  })

  it('neither disclose their content in the database nor that two accounts have the same one', async () => {
    const { db, images } = await setUp()
    const image = Buffer.from('the logo of a company, as everyone knows it')
    const hashes = [await images.save(ann, image), await images.save(bob, image)]
    expect(hashes[0]).not.to.equal(hashes[1])
    expect(await images.find(bob, hashes[0]!)).to.equal(undefined)
    for (const { sealed } of await stored(db)) expect(sealed.includes('logo')).to.equal(false)
  })

  it('are deleted with their account only, and cannot be read with a key that was made later', async () => {
    const { db, keys, images } = await setUp()
    const image = randomBytes(3000)
    const kept = await images.save(bob, image)
    const lost = await images.save(ann, image)
    const backup = await stored(db)
    await keys.destroy([ann])
    expect((await stored(db)).map(({ account }) => account)).to.deep.equal([bob])
    expect(await images.find(bob, kept)).to.deep.equal(image)

    await writeImages(db, backup)
    expect(await images.find(ann, lost)).to.equal(undefined)
    await keys.destroy([ann])
    expect(await stored(db)).to.have.length(1)
  })

  it('are not stored once the key is destroyed, also by a process that still has it in its cache', async () => {
    const { db, keys, images } = await setUp()
    await images.save(ann, randomBytes(50))
    const other = openImageStore(db, { ...keys, forSealing: async () => randomBytes(32) })
    await keys.destroy([ann])
    for (const store of [images, other]) {
      const refused = await store.save(ann, randomBytes(50)).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(Unavailable)
    }
    expect(await stored(db)).to.deep.equal([])
  })

  it('are read in order and page by page, and can be written to another database', async () => {
    const { db, images } = await setUp()
    for (let n = 0; n < 40; n++) await images.save(n % 2 === 0 ? bob : ann, randomBytes(50))
    const all = await stored(db)
    expect(all).to.have.length(40)
    const place = ({ account, hash }: StoredImage) => Buffer.from(`${account} ${hash}`)
    expect(all.map(place)).to.deep.equal(all.map(place).toSorted((a, b) => a.compare(b)))
    const other = await database()
    await writeImages(other, all)
    expect(await stored(other)).to.deep.equal(all)
  })

  it('are copied to another database, where an interrupted copy is completed', async () => {
    const { db, images } = await setUp()
    for (let n = 0; n < 40; n++) await images.save(ann, randomBytes(50))
    const [first, ...rest] = await stored(db)
    const other = await database()
    await writeImages(other, [{ ...first!, sealed: randomBytes(78) }, ...rest.slice(0, 20)])
    expect(await copyImages(db, other)).to.equal(40)
    expect(await stored(other)).to.deep.equal([first, ...rest])
    expect(await copyImages(db, db)).to.equal(40)
  })
})
