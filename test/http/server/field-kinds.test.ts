import t from 'tap'
import { fieldKindOf, fieldKinds } from '../../../src/http/server/field-kinds.ts'
import { readFields } from '../support/request-context.ts'

t.test('only the gateway may name the caller: fields with an identity are recognised in any spelling', async t => {
  const names = [
    'X-Sidegate-Client-Id',
    'x-sidegate-anything',
    'X_Sidegate_Client_Id',
    'x-sidegate_scope',
    'X-Forwarded-Port',
    'x_forwarded_for',
    'X.Request.Id',
    'X-Request.Id',
    'X.Real-IP',
    'Content.Length',
    'Proxy.Authorization',
    'X-Real-IP',
    'Content_Length',
    'Transfer_Encoding',
    'X_Request_Id',
    'Client-Cert-Chain',
    'Client_Cert',
    'Client.Cert',
    'X-Client-Cert',
    'X-Forwarded.Client.Cert',
    'X-Forwarded-Tls-Client-Cert',
    'SSL-Client-Verify',
    'SSL-Client-S-Dn',
    'X-SSL-Cert',
    'X-SSL-Whatever-Client-CN',
    'X-Amzn-Mtls-Clientcert',
    'X-ARR-ClientCert',
    'X-Azure-ClientCert',
    'X-Apigee-Tls-Client-Cert',
    'X-Apigee-TLS-Cipher',
    'X-Client-Verify',
    'X-Client-DN',
    'X-Client.Dn',
    'X-Certificate',
    'X-Certificate-Subject',
    'X-Client-Auth-Subject',
    'X-MS-Client-Principal',
    'X-MS-Client-Principal-Id',
    'X-Auth-Request-User',
    'X-Auth.Request-Email',
    'X-Goog-Authenticated-User-Email',
    'X-Goog-IAP-JWT-Assertion',
    'X-Cluster-Client-IP',
    'Fastly-Client-IP',
    'X-Original-Method',
    'X-Original.Method',
    'X-Original-Path',
    'X-Original-Host',
    'X-Override-URL',
    'X-Envoy-Original-Path',
    'X-Host',
    'X-User',
    'X.User',
    'X-Azure-ClientIP',
    'X-Azure-SocketIP',
    'X-Envoy-External-Address',
    'X-ProxyUser-Ip',
    'X-Original-Forwarded-For',
    'Proxy',
    'X-Consumer-ID',
    'X-Consumer-Custom-ID',
    'X-Consumer-Username',
    'X-Consumer.Username',
    'X-Consumer-Groups',
    'X-Credential-Identifier',
    'X-Credential-Username',
    'X-Anonymous-Consumer',
    'X-Authenticated-User',
    'X-Authenticated-UserId',
    'X-Authenticated-Groups',
    'X-Authenticated-Scope',
  ]
  for (const name of names) t.equal(fieldKindOf(name), fieldKinds.identity, name)
})

t.test('a field with an underscore in its name ends here, because servers like CGI read it as a dash', async t => {
  for (const name of ['X_Own', 'My_Field', 'a_b']) t.equal(fieldKindOf(name), fieldKinds.identity, name)
})

t.test('hop-by-hop fields end here (RFC 9110 section 7.6.1)', async t => {
  for (const name of ['Keep-Alive', 'Proxy-Connection', 'Proxy-Authorization', 'TE', 'Trailer', 'HTTP2-Settings']) {
    t.equal(fieldKindOf(name), fieldKinds.hop, name)
  }
})

t.test('everything else is plain, whatever it is called', async t => {
  for (const name of [
    'X-Own',
    'sidegate-client-id',
    'X-Sidegate',
    'constructor',
    'toString',
    'x-forwardedfor',
    'certificate',
    'x-ssl',
    'x-client-name',
    'x-client-author',
    'x-ms-client-request-id',
    'x-apigee-quota',
    'x-azure-ref',
    'x-auth-requester',
    'x-goog-api-key',
    'x-original-size',
    'x-hostname',
    'x-envoy-attempt-count',
    'x-user-agent',
    'x-users',
    'x-azure-fdid',
    'x-consumer-index',
    'x-credentials',
    'x-authenticated-at',
    'proxy-status',
  ]) {
    t.equal(fieldKindOf(name), fieldKinds.plain, name)
  }
})

t.test('a name keeps its kind however many names came before', async t => {
  for (let i = 0; i < 5000; i++) fieldKindOf(`x-made-up-${i}`)

  t.equal(fieldKindOf('x-made-up-1'), fieldKinds.plain)
  t.equal(fieldKindOf('X-siDegate-Client-Id'), fieldKinds.identity)
})

t.test('one pass over the lines of a header finds what the gateway reads', async t => {
  const fields = readFields([
    ...['Host', 'a', 'host', 'b'],
    ...['Authorization', 'Bearer 1', 'AUTHORIZATION', 'Bearer 2'],
    ...['Cookie', 'a=1', 'cookie', 'b=2'],
    ...['Connection', 'close', 'connection', 'x-own'],
    ...['Transfer-Encoding', 'gzip', 'transfer-encoding', 'chunked'],
    ...['Content-Length', '5'],
    ...['X-Request-Id', '1', 'X-Request-Id', '2'],
    ...['DPoP', 'proof 1', 'dpop', 'proof 2'],
    ...['tracestate', 'a=1', 'TraceState', 'b=2', 'Forwarded', 'for=1.2.3.4', 'forwarded', 'for=5.6.7.8'],
    ...['Client-Cert', ':a:', 'client-cert', ':b:', 'X-Forwarded-Client-Cert', 'Cert=a'],
  ])

  t.match(fields, {
    host: 'a',
    hostCount: 2,
    authorization: ['Bearer 1', 'Bearer 2'],
    cookie: 'a=1; b=2',
    connection: 'close, x-own',
    transferEncoding: 'gzip, chunked',
    contentLength: '5',
    requestId: '1, 2',
    dpop: ['proof 1', 'proof 2'],
    tracestate: 'a=1, b=2',
    forwarded: 'for=1.2.3.4, for=5.6.7.8',
    clientCert: ':a:, :b:',
    forwardedClientCert: 'Cert=a',
    accept: undefined,
  })
})

t.test('nothing of one request shows in the next', async t => {
  readFields(['Authorization', 'Bearer 1', 'DPoP', 'proof'])

  const { authorization, dpop } = readFields([])
  t.same({ authorization, dpop }, { authorization: [], dpop: [] })
})
