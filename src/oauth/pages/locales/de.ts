import { html } from '../html.ts'
import type { Texts } from './texts.ts'

export const german: Texts = {
  lang: 'de',
  signIn: {
    title: client => `Anmelden bei ${client}`,
    failedTitle: client => `Nicht angemeldet: Anmelden bei ${client}`,
    heading: 'Anmelden',
    lead: client => html`und weiter zu ${client}`,
    username: 'Benutzername',
    password: 'Passwort',
    submit: 'Anmelden',
    cancel: 'Abbrechen',
    wrong: 'Benutzername und Passwort passen nicht zusammen.',
    lastTry: 'Nach einem weiteren falschen Passwort endet diese Anmeldung.',
    tooMany: waitSec =>
      `Zu viele falsche Passwörter. Bitte ${waitSec} ${waitSec === 1 ? 'Sekunde' : 'Sekunden'} warten, dann erneut versuchen.`,
  },
  consent: {
    heading: client => `Zugriff für ${client} erlauben?`,
    signedInAs: username => html`Sie sind angemeldet als ${username}.`,
    asksFor: client => `${client} bittet um`,
    nothing: 'Ihre Identität und sonst nichts.',
    allow: 'Erlauben',
    deny: 'Ablehnen',
    back: destination => html`In beiden Fällen geht es zurück zu ${destination}.`,
    app: scheme => `der App ${scheme}`,
    scopes: { offline_access: 'Diesen Zugriff behalten, auch wenn Sie nicht da sind' },
  },
  messages: {
    answeredElsewhere: {
      title: 'Das wurde in einem anderen Fenster beantwortet',
      text: 'Die Anwendung hat ihre Antwort schon. Gehen Sie zu ihr zurück. Dieses Fenster können Sie schließen.',
    },
    busy: {
      title: 'Gerade melden sich zu viele Menschen an',
      text: 'Warten Sie einen Moment, gehen Sie dann zurück zum Formular und senden Sie es noch einmal.',
    },
    expired: {
      title: 'Diese Anmeldung ist abgelaufen',
      text: 'Sie wurde nicht rechtzeitig beendet, oder die Adresse dieser Seite ist unvollständig. Gehen Sie zurück zur Anwendung und beginnen Sie neu.',
    },
    finished: {
      title: 'Diese Anmeldung ist beendet',
      text: 'Sie haben schon geantwortet. Gehen Sie zurück zur Anwendung. Dieses Fenster können Sie schließen.',
    },
    foreign: {
      title: 'Diese Anmeldung gehört einem anderen Browser',
      text: 'Sie können sie nur in dem Browser beenden, in dem sie begonnen wurde, auf ihrer eigenen Seite und mit erlaubten Cookies. Gehen Sie zurück zur Anwendung und beginnen Sie neu.',
    },
    unaddressed: {
      title: 'Dieser Link funktioniert nicht',
      text: 'Die Anwendung, die Sie hierher geschickt hat, hat eine ungültige Anfrage gestellt. Gehen Sie zu ihr zurück und versuchen Sie es noch einmal. Hilft das nicht, wenden Sie sich an den Betreiber der Anwendung.',
    },
    unreadable: {
      title: 'Dieses Formular ist nicht lesbar',
      text: 'Es wurde auf dem Weg von diesem Browser zum Server verändert. Gehen Sie zurück zur Anwendung und beginnen Sie neu.',
    },
    refused: {
      title: 'Diese Anfrage lässt sich nicht beantworten',
      text: 'Der Server hat eine ungültige Anfrage erhalten. Gehen Sie zurück zur Anwendung und beginnen Sie neu.',
    },
    refusedSlow: {
      title: 'Das hat zu lange gedauert',
      text: 'Die Anfrage kam nicht rechtzeitig an. Laden Sie diese Seite neu.',
    },
    refusedTooMany: { title: 'Zu viele Anfragen', text: 'Warten Sie einen Moment, laden Sie dann diese Seite neu.' },
    refusedBroken: {
      title: 'Hier ist etwas schiefgegangen',
      text: 'Gehen Sie zurück zur Anwendung und beginnen Sie neu. Hilft das nicht, wenden Sie sich an den Betreiber dieses Servers.',
    },
    refusedUnavailable: {
      title: 'Anmelden ist gerade nicht möglich',
      text: 'Warten Sie einen Moment, laden Sie dann diese Seite neu.',
    },
  },
  forDevelopers: 'Für die Entwickler der Anwendung:',
}
