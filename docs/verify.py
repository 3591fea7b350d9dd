#!/usr/bin/env python3
"""Verifies a receipt of Linkledger, and that its log only grows, as docs/proof.md describes it. It needs Python 3 and nothing else.

python3 verify.py receipt RECEIPT.json KEY          an event or a click is in the log that the key has signed
python3 verify.py consistency PROOF CHECKPOINT KEY  the log still begins with what a checkpoint file says: PROOF is a file, or the URL of the log
python3 verify.py tiles URL CHECKPOINT KEY          the same, by reading all hashes of the log at URL
"""
import base64, hashlib, json, sys, time, urllib.error, urllib.request

# Ed25519 (RFC 8032, 5.1.7), for verifying only
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)

def recover_x(y, sign):
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P: x = x * ROOT % P
    if (x * x - xx) % P or y >= P or (x == 0 and sign): raise ValueError('not a point')
    return x if x % 2 == sign else P - x

def point(data):
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y % 2**255
    x = recover_x(y, sign)
    return (x, y, 1, x * y % P)

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)

def multiply(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1: q = add(q, p)
        p, n = add(p, p), n >> 1
    return q

BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, 'little'))

def signed_by(key, message, signature):
    if len(signature) != 64: return False
    r, s = point(signature[:32]), int.from_bytes(signature[32:], 'little')
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), 'little') % L
    a, b = multiply(s, BASE), add(r, multiply(h, point(key)))
    return s < L and (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0

# the Merkle tree (RFC 6962, 2.1)
def sha(data): return hashlib.sha256(data).digest()
def leaf(text): return sha(b'\0' + text.encode())
def node(left, right): return sha(b'\1' + left + right)

def root_of(hashes):
    if len(hashes) < 2: return hashes[0] if hashes else sha(b'')
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return node(root_of(hashes[:half]), root_of(hashes[half:]))

def root_by_path(hash, index, size, path):
    last = size - 1
    for sibling in path:
        if last == 0: raise ValueError('the path is too long')
        if index % 2 or index == last:
            hash = node(sibling, hash)
            while index % 2 == 0 and index: index, last = index >> 1, last >> 1
        else: hash = node(hash, sibling)
        index, last = index >> 1, last >> 1
    if last or index: raise ValueError('the path is too short')
    return hash

def roots_by_path(first, second, root, path):
    """The roots of the older and of the newer tree, from a proof of consistency (RFC 9162, 2.1.4.2)."""
    if first == second and not path: return root, root
    if not 0 < first < second: raise ValueError('the sizes do not fit')
    index, last = first - 1, second - 1
    while index % 2: index, last = index >> 1, last >> 1
    if index == 0: path = [root] + path
    if not path: raise ValueError('the path is too short')
    old = new = path[0]
    for hash in path[1:]:
        if last == 0: raise ValueError('the path is too long')
        if index % 2 or index == last:
            old, new = node(hash, old), node(hash, new)
            while index % 2 == 0 and index: index, last = index >> 1, last >> 1
        else: new = node(new, hash)
        index, last = index >> 1, last >> 1
    if last: raise ValueError('the path is too short')
    return old, new

def check(holds, problem):
    if not holds: raise ValueError(problem)

def number(value):
    # JSON has one kind of numbers: 31.0 is 31
    check(type(value) in (int, float) and 0 <= value < 2**53 and value == int(value), 'a number is expected')
    return int(value)

def hashes_of(texts):
    hashes = [base64.b64decode(text, validate=True) for text in texts]
    check(all(len(hash) == 32 for hash in hashes), 'a path has something that is not a hash')
    return hashes

def checkpoint_of(note, vkey):
    name, key_id, key = vkey.strip().split('+', 2)
    key = base64.b64decode(key, validate=True)
    check(sha(name.encode() + b'\n' + key)[:4].hex() == key_id and key[0] == 1, 'the key is damaged')
    text, signatures = note.rsplit('\n\n', 1)
    text += '\n'
    signed = False
    for line in signatures.splitlines():
        dash, signer, data = line.split(' ')
        data = base64.b64decode(data, validate=True)
        if signer == name and data[:4].hex() == key_id:
            check(signed_by(key[1:], text.encode(), data[4:]), 'the signature is wrong')
            signed = True
    check(signed, 'the checkpoint is not signed by this key')
    origin, size, root = text.split('\n')[:3]
    check(origin == name, 'the checkpoint is of another log')
    check(size.isascii() and size.isdigit(), 'the checkpoint has no size')
    return int(size), hashes_of([root])[0]

def receipt(file, vkey):
    given = json.loads(read(file))
    check(isinstance(given, dict) and 'event' in given and 'proof' in given, 'the file is not a receipt')
    event, proof = given['event'], given['proof']
    size, root = checkpoint_of(proof['checkpoint'], vkey)
    index = number(proof['index'])
    check(number(json.loads(event)['ordinal']) == index < size, 'the index is not that of the event')
    check(root_by_path(leaf(event), index, size, hashes_of(proof['path'])) == root, 'the event is not in the log')
    if 'click' in given:
        clicks, inner = json.loads(event)['data']['clicks'], proof['click']
        place, count = number(inner['index']), number(clicks['count'])
        check(place < count, 'the event has no such click')
        found = root_by_path(leaf(given['click']), place, count, hashes_of(inner['path']))
        check(found == base64.b64decode(clicks['root']), 'the click is not in the event')
    return 'event %d of %d\n%s' % (index, size, given.get('click', event))

def read(file):
    with open(file, encoding='utf-8') as opened: return opened.read()

def get(url):
    """Reads an address of the log, slowly enough for its limit of requests."""
    while True:
        try: return urllib.request.urlopen(url, timeout=60).read(2**20)
        except urllib.error.HTTPError as error:
            if error.code != 429: raise
            time.sleep(int(error.headers.get('Retry-After', '1')))

def consistency(place, file, vkey):
    old_size, old_root = checkpoint_of(read(file), vkey)
    remote = place.startswith(('http://', 'https://'))
    proof = json.loads(get('%s/consistency/%d' % (place.rstrip('/'), old_size)) if remote else read(place))
    size, root = checkpoint_of(proof['checkpoint'], vkey)
    check(number(proof['first']) == old_size, 'the proof is about another checkpoint')
    roots = roots_by_path(old_size, size, old_root, hashes_of(proof['path']))
    check(roots == (old_root, root), 'the log does not begin as it did')
    return '%d events, the first %d are unchanged' % (size, old_size)

def tiles(url, file, vkey):
    url = url.rstrip('/') + '/'
    old_size, old_root = checkpoint_of(read(file), vkey)
    size, root = checkpoint_of(get(url + 'checkpoint').decode(), vkey)
    check(old_size <= size, 'the log is shorter than it was')
    hashes = []
    for number in range((size + 255) // 256):
        width = min(256, size - number * 256)
        groups = [part.zfill(3) for part in '{:,}'.format(number).split(',')]
        name = '/'.join(['x' + part for part in groups[:-1]] + groups[-1:])
        data = get(url + 'tile/0/' + name + ('' if width == 256 else '.p/%d' % width))
        check(len(data) == width * 32, 'a tile has another size')
        hashes += [data[at:at + 32] for at in range(0, len(data), 32)]
    check(root_of(hashes) == root, 'the tiles are not those of the checkpoint')
    check(root_of(hashes[:old_size]) == old_root, 'the log does not begin as it did')
    return '%d events, the first %d are unchanged' % (size, old_size)

commands = {'receipt': (receipt, 2), 'consistency': (consistency, 3), 'tiles': (tiles, 3)}
command, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else '', (None, 0))
if command is None or len(sys.argv) != count + 2: sys.exit(__doc__)
try: answer = 'VALID: ' + command(*sys.argv[2:])
except OSError as error: sys.exit('cannot be read: %s' % error)
# malformed input proves nothing
except Exception as error: sys.exit('NOT VALID: %s' % (str(error) or type(error).__name__).encode('ascii', 'backslashreplace').decode())
# a text that is not ours must not control a terminal
print(answer.encode('ascii', 'backslashreplace').decode())
