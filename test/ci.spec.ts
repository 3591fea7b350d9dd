import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { needsLinux } from './support/skip.ts'

const steps = fileURLToPath(new URL('../.ci/steps', import.meta.url))

/** Runs lanes as the scripts in `.ci` do; returns the status, the lines that it prints, and the last of them. */
const run = (script: string) => {
  const { status, stdout } = spawnSync('bash', ['-c', `source '${steps}'\n${script}\nfinish`], { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  return { status, lines, last: lines.at(-1) }
}

describe('the steps of CI', () => {
  // other systems may have an older bash
  before(function () {
    needsLinux(this)
  })

  it('end with the totals of all lanes, and print the output of each step whole', () => {
    const { status, lines, last } = run(`
      one() { tests sh -c 'echo one; sleep 0.2; echo "  3 passing (1s)"'; check true; }
      two() { tests sh -c 'echo two; sleep 0.2; printf "  \\033[32m4 passing\\033[0m\\n  1 pending\\n"'; }
      lanes 2 one two && echo fine`)
    expect([status, last]).to.deep.equal([0, '7 passed, 0 failed'])
    expect(lines).to.include('fine')
    expect(lines[lines.indexOf('one') + 1]).to.equal('  3 passing (1s)')
    expect(
      lines.filter((line) => / s +\d+ s {2}Node /.test(line)),
      'times',
    ).to.have.length(3)
  })

  it('fail when a test or a command of any lane fails, and repeat at the end how', () => {
    const { status, lines, last } = run(`
      one() { tests sh -c 'echo "  3 passing"; echo "  2 failing"; echo "  1) a test"; exit 2'; check true; }
      two() { check sh -c 'echo a reason; exit 1'; check true; }
      lanes 2 one two || echo bad`)
    expect([status, last]).to.deep.equal([1, '3 passed, 3 failed'])
    expect(lines).to.include('bad')
    const repeated = lines.slice(lines.findIndex((line) => line.startsWith('==> Time')))
    expect(repeated).to.include.members(['  1) a test', 'a reason'])
  })

  it('run so many at a time, and the next one when one has ended', () => {
    const { lines } = run(`
      one() { until [ -e "$work/four.begun" ]; do sleep 0.05; done; check echo one; }
      two() { check echo two; }
      three() { check echo three; }
      four() { check echo four; }
      lanes 2 one two three four`)
    expect(lines.filter((line) => /^(one|two|three|four)$/.test(line)).slice(0, 2)).to.deep.equal(['two', 'three'])
    expect(lines).to.include('one').and.include('four')
  })

  it('fail when tests end before they report, report none or end badly after them', () => {
    const { last } = run(`
      one() { tests true; tests sh -c 'echo "  5 passing"; exit 1'; tests sh -c 'echo "  0 passing"'; }
      lanes 1 one`)
    expect(last).to.equal('5 passed, 3 failed')
  })

  it('fail when a lane ends before its last step, does not exist or takes too long', () => {
    const { lines, last } = run(`
      minutes=0.05
      one() { check true; exit 0; check true; }
      two() { check true; echo $unknown; }
      three() { check sleep 60; }
      lanes 3 one two three four`)
    expect(last).to.equal('0 passed, 4 failed')
    expect(lines.filter((line) => line.endsWith('ended before all of its steps had run'))).to.have.length(6)
    expect(lines).to.include('This step was ended after 0.05 minutes.')
  })
})
