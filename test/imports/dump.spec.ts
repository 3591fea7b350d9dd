import { expect } from 'chai'
import { readAll, refusalOf, shortly } from './support.ts'

const read = async (...given: Parameters<typeof readAll>) => shortly(await readAll(...given))

const mysqldump = `-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: yourls
-- It's a comment; with ( and '
/*!40101 SET NAMES utf8mb4 */;

DROP TABLE IF EXISTS \`yourls_log\`;
CREATE TABLE \`yourls_log\` (
  \`click_id\` int NOT NULL AUTO_INCREMENT,
  \`click_time\` datetime NOT NULL,
  \`shorturl\` varchar(100) NOT NULL,
  \`referrer\` varchar(200) NOT NULL COMMENT 'where; (from)',
  \`user_agent\` varchar(255) NOT NULL,
  \`ip_address\` varchar(41) NOT NULL,
  \`country_code\` char(2) NOT NULL,
  PRIMARY KEY (\`click_id\`),
  KEY \`shorturl\` (\`shorturl\`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
LOCK TABLES \`yourls_log\` WRITE;
/*!40000 ALTER TABLE \`yourls_log\` DISABLE KEYS */;
INSERT INTO \`yourls_log\` VALUES (1,'2024-07-01 10:00:00','ozh','direct','Mozilla/5.0 (X11; \\'Linux\\')','192.0.2.1','FR'),(2,'2024-07-01 10:00:01','ozh','https://a.example/?b=(c)','','192.0.2.2','');
UNLOCK TABLES;
INSERT INTO \`yourls_options\` VALUES (1,'version','1.9.2'),(2,'a','b');
INSERT INTO \`yourls_url\` VALUES ('ozh','http://ozh.org/','O''Zh \\\\ \\"quoted\\"\\nline; (x)','2024-01-01 00:00:00','127.0.0.1',1234);
-- Dump completed on 2024-07-02
`
const phpMyAdmin = `-- phpMyAdmin SQL Dump
SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";

INSERT INTO \`yourls_url\` (\`keyword\`, \`url\`, \`title\`, \`timestamp\`, \`ip\`, \`clicks\`) VALUES
('a', 'https://example.com/a', NULL, '2024-01-01 00:00:00', '', 0),
('b/c', _utf8mb4 'https://example.com/b', 'B', '2024-01-01 00:00:00', '', -1),
('c', CONCAT('a', 'b'), 'C', '2024-01-01 00:00:00', '', 0),
('d', 'https://example.com/d', 'D', '2024-01-01 00:00:00', '', 3) ON DUPLICATE KEY UPDATE clicks = VALUES(clicks), ip = VALUES(ip);
`

describe('a dump of the database of YOURLS', () => {
  it('has texts as hexadecimal literals, as mysqldump writes binary columns', async () => {
    const [first, second, third, ...rest] = await read(
      "INSERT INTO `yourls_url` VALUES (0x7965,'https://example.com/e',_binary 0xc3a9,'2024-01-01 00:00:00','',3)," +
        "(X'7a65', _utf8mb4 x'68747470733a2f2f6578616d706c652e636f6d2f7a', 0x, '2024-01-01 00:00:00', '', 0)," +
        "(0xff,'https://example.com/f','F','2024-01-01 00:00:00','',0);",
      'yourls',
    ).then((all) => all.filter((one) => !('notice' in one)))
    expect(first).to.deep.include({ addresses: [{ host: undefined, alias: 'ye' }], title: 'é', clicks: 3 })
    expect(second).to.deep.include({ addresses: [{ host: undefined, alias: 'ze' }], url: 'https://example.com/z' })
    expect(third).to.have.property('problem')
    expect(rest).to.deep.equal([])
  })

  it('has links and visits, as mysqldump writes them', async () => {
    expect(await read(mysqldump, 'auto', { timezone: 'Europe/Paris' })).to.deep.equal([
      { notice: 'no_zone', zone: 'Europe/Paris' },
      {
        place: { line: 21 },
        host: undefined,
        alias: 'ozh',
        at: '2024-07-01T08:00:00.000Z',
        userAgent: "Mozilla/5.0 (X11; 'Linux')",
        address: '192.0.2.1',
        country: 'FR',
      },
      {
        place: { line: 21 },
        host: undefined,
        alias: 'ozh',
        at: '2024-07-01T08:00:01.000Z',
        referrer: 'https://a.example/?b=(c)',
        address: '192.0.2.2',
      },
      {
        place: { line: 24 },
        addresses: [{ host: undefined, alias: 'ozh' }],
        url: 'http://ozh.org/',
        title: 'O\'Zh \\ "quoted"\nline; (x)',
        created: '2023-12-31T23:00:00.000Z',
        clicks: 1234,
        left: ['ip'],
      },
    ])
  })

  it('has columns with names, and a row in each line, as phpMyAdmin writes them', async () => {
    const [a, b] = ['a', 'd'].map((alias) => ({
      addresses: [{ host: undefined, alias }],
      url: `https://example.com/${alias}`,
    }))
    const created = { created: '2024-01-01T00:00:00.000Z' }
    expect(await read(phpMyAdmin)).to.deep.equal([
      { notice: 'no_zone', zone: 'UTC' },
      { place: { line: 5 }, ...a, ...created, clicks: 0 },
      {
        ...{ place: { line: 6 }, addresses: [{ host: undefined, alias: 'b/c' }], url: 'https://example.com/b' },
        ...{ title: 'B', ...created, notes: ['Left out: `clicks` must be a whole number.'] },
      },
      { place: { line: 7 }, problem: 'The row is not valid SQL.' },
      { place: { line: 8 }, ...b, title: 'D', ...created, clicks: 3 },
    ])
  })

  it('is refused when it ends within a row, or is none of YOURLS', async () => {
    expect(await refusalOf(read(mysqldump.slice(0, mysqldump.indexOf('Linux\\'))))).to.equal(
      'The file ends within this row.',
    )
    expect(await refusalOf(read("-- MySQL dump\nINSERT INTO `a` VALUES (1,'b');\n"))).to.match(
      /^The file has none of the formats/,
    )
  })

  it('continues after a row that is too long or not UTF-8', async () => {
    const row = (title: string) => `('a','u','${title}','2024-01-01 00:00:00','',0)`
    const text = `INSERT INTO yourls_url VALUES ${[row('x'.repeat(1024 * 1024)), row('\xff'), row('T')].join()};`
    const [, , ...found] = await read(Buffer.from(text, 'latin1'))
    expect(found).to.have.length(2)
    expect(shortly(await readAll(Buffer.from(text, 'latin1'))).slice(0, 2)).to.deep.equal([
      { place: { line: 1 }, problem: 'A row must be at most 1 MiB long.' },
      { place: { line: 1 }, problem: 'The row must be valid UTF-8.' },
    ])
  })
})

describe('the bookmarks of a browser', () => {
  const file = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><A HREF="https://example.com/?a=1&amp;b=2" ADD_DATE="1700000000" ICON="data:image/png;base64,AAAA">One &lt;1&gt; &#39;x&#x27;</A>
        <DD>About it
        <DT><H3>News &amp; more</H3>
        <DL><p>
            <DT><A HREF="https://b.example" TAGS="x,y" SHORTCUTURL="b">Two</A>
        </DL><p>
        <DT><A HREF="https://c.example">Three</A><DT><A HREF="https://d.example">Four</A>
    </DL><p>
</DL>
`

  it('are links without an address, with their folder as a tag', async () => {
    expect(await read(file)).to.deep.equal([
      {
        place: { line: 9 },
        addresses: [],
        url: 'https://example.com/?a=1&b=2',
        title: "One <1> 'x'",
        description: 'About it',
        created: '2023-11-14T22:13:20.000Z',
      },
      {
        place: { line: 13 },
        addresses: [],
        url: 'https://b.example',
        title: 'Two',
        tags: ['x', 'y', 'News & more'],
        left: ['shortcuturl'],
      },
      { place: { line: 15 }, addresses: [], url: 'https://c.example', title: 'Three' },
      { place: { line: 15 }, addresses: [], url: 'https://d.example', title: 'Four' },
    ])
  })
})
