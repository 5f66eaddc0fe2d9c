import { readTextFile } from '../files/text-file.ts'
import { firstEnd, parseCertificates } from '../http/tls/pem.ts'
import { poll } from '../poll.ts'
import { parseRedisAddress, type StoreUrl } from '../stores/store-url.ts'
import { createCertificateMeter } from '../telemetry/certificate-metrics.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** The files are read for each new connection; this checks what the next connection would find. */
const lookEveryMs = 60_000

/** Reports when the certificates for connections to the store expire; nothing if its URL names no files. */
export const followStoreCertificates = (store: StoreUrl, recorder: Recorder): { close(): void } => {
  const { certFile, caFile } = tlsFilesOf(store)
  if (certFile === undefined && caFile === undefined) return { close: () => undefined }
  const meter = createCertificateMeter(recorder, 'store')
  const look = async (): Promise<void> => meter.ends({ own: await endOf(certFile), authorities: await endOf(caFile) })
  // A read may fail while the files are being replaced. The next check finds the rest.
  const lookPatiently = (): Promise<void> => look().catch(() => undefined)
  void lookPatiently()
  const looking = poll(lookPatiently, lookEveryMs)
  return {
    close() {
      looking.close()
      meter.close()
    },
  }
}

const tlsFilesOf = (store: StoreUrl): { readonly certFile?: string; readonly caFile?: string } => {
  const address = store.kind === 'redis' ? parseRedisAddress(store) : undefined
  return address === undefined || 'problem' in address ? {} : (address.tls ?? {})
}

const endOf = async (file: string | undefined): Promise<number | undefined> =>
  file === undefined ? undefined : firstEnd(parseCertificates(await readTextFile(file)))
