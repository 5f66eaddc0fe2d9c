import { inflateRawSync } from 'node:zlib'

const endSignature = 0x06054b50
const entrySize = 46
const localHeaderSize = 30

/**
 * The bytes of one member of a ZIP archive (APPNOTE.TXT of PKWARE), found by the central directory.
 * @throws Error if the archive has no member of this name
 */
export const readZipMember = (archive: Buffer, name: string): Buffer => {
  const end = archive.lastIndexOf(toBytes(endSignature))
  if (end < 0) throw new Error('the archive has no central directory')
  const count = archive.readUInt16LE(end + 10)
  let entry = archive.readUInt32LE(end + 16)
  for (let nth = 0; nth < count; nth++) {
    const nameLength = archive.readUInt16LE(entry + 28)
    if (archive.toString('utf8', entry + entrySize, entry + entrySize + nameLength) === name) {
      return readEntry(archive, entry)
    }
    entry += entrySize + nameLength + archive.readUInt16LE(entry + 30) + archive.readUInt16LE(entry + 32)
  }
  throw new Error(`the archive has no member ${name}`)
}

const toBytes = (signature: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(signature)
  return bytes
}

/**
 * The local header repeats the name, and its extra field may have another length than that of the central directory.
 */
const readEntry = (archive: Buffer, entry: number): Buffer => {
  const isStored = archive.readUInt16LE(entry + 10) === 0
  const header = archive.readUInt32LE(entry + 42)
  const start = header + localHeaderSize + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const data = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  return isStored ? data : inflateRawSync(data)
}
